/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The limit that latency_tcp is measured against: the same requests and answers in C.
 *
 *   latency_peer server ADDRESS PORT CPU DELAY_NS
 *   latency_peer client ADDRESS PORT CPU REQUEST REPLY SAMPLES INTERVAL_NS
 *
 * CPU -1 is any. The server works DELAY_NS before each answer. It runs before other processes where it may (SCHED_FIFO), so that what it
 * waits for is not measured. It speaks as module_utils/hostproof/latency/hello.py does, and ends with
 * its parent. The client prints the p50 and the p99 in nanoseconds, timed from when each request was to
 * begin; with an interval of 0 they go back to back. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LONGEST 65536
#define WARM_UP 500

static const char MAGIC[8] = "hostprf1";
static char buffer[LONGEST];

static void fail(const char *what)
{
    fprintf(stderr, "latency_peer: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int receive(int fd, size_t size)
{
    while (size) {
        ssize_t got = recv(fd, buffer, size, 0);
        if (got <= 0)
            return 0;
        size -= got;
    }
    return 1;
}

static void put(int fd, size_t size)
{
    while (size) {
        ssize_t done = send(fd, buffer, size, MSG_NOSIGNAL);
        if (done <= 0)
            fail("send");
        size -= done;
    }
}

static struct sockaddr_in address_of(char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[3]))};
    if (inet_pton(AF_INET, argv[2], &address.sin_addr) != 1)
        fail(argv[2]);
    return address;
}

static void bind_to(int cpu)
{
    cpu_set_t set;
    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        fail("sched_setaffinity");
}

static int serve(char **argv)
{
    struct sched_param first = {.sched_priority = 40};
    int64_t delay = atoll(argv[5]);
    bind_to(atoi(argv[4]));
    sched_setscheduler(0, SCHED_FIFO, &first);
    struct sockaddr_in address = address_of(argv);
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_IGN);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (void *)&address, sizeof address) || listen(listener, 8))
        fail("listen");
    puts("ready");
    fflush(stdout);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            continue;
        if (fork()) {
            close(fd);
            continue;
        }
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        uint32_t sizes[2];
        if (!receive(fd, 16) || memcmp(buffer, MAGIC, 8))
            exit(1);
        memcpy(sizes, buffer + 8, 8);
        size_t request = ntohl(sizes[0]), reply = ntohl(sizes[1]);
        if (request > LONGEST || reply > LONGEST)
            exit(1);
        memset(buffer + 8, 0, 4);
        put(fd, 12);
        while (receive(fd, request)) {
            int64_t end = now() + delay;
            while (delay && now() < end)
                ;
            put(fd, reply);
        }
        exit(0);
    }
}

static int compare(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

static int ask(char **argv)
{
    struct sockaddr_in address = address_of(argv);
    size_t request = atoi(argv[5]), reply = atoi(argv[6]);
    int samples = atoi(argv[7]), one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    int64_t interval = atoll(argv[8]), next = 0;
    int64_t *took = calloc(samples, sizeof *took);
    uint32_t sizes[2] = {htonl(request), htonl(reply)};
    bind_to(atoi(argv[4]));
    if (connect(fd, (void *)&address, sizeof address))
        fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    prctl(PR_SET_TIMERSLACK, 1);
    memcpy(buffer, MAGIC, 8);
    memcpy(buffer + 8, sizes, 8);
    put(fd, 16);
    if (!receive(fd, 12) || memcmp(buffer, MAGIC, 8))
        fail("greeting");
    for (int i = -WARM_UP; i < samples; i++) {
        int64_t begin = now();
        if (i >= 0 && interval) {
            begin = next ? next : begin + interval;
            next = begin + interval;
            struct timespec at = {begin / 1000000000LL, begin % 1000000000LL};
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        }
        put(fd, request);
        if (!receive(fd, reply))
            fail("answer");
        if (i >= 0)
            took[i] = now() - begin;
    }
    qsort(took, samples, sizeof *took, compare);
    printf("%lld %lld\n", (long long)took[samples / 2], (long long)took[samples * 99 / 100]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 6 && !strcmp(argv[1], "server"))
        return serve(argv);
    if (argc == 9 && !strcmp(argv[1], "client") && atoi(argv[5]) <= LONGEST &&
        atoi(argv[6]) <= LONGEST && atoi(argv[7]) > 0)
        return ask(argv);
    fprintf(stderr, "usage: see the head of the source\n");
    return 2;
}
