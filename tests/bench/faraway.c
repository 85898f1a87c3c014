/* A host that is far away, in place of its Python: answers after a while, at no cost of its own.
 *
 * "-sSE -c PROGRAM" is called for a payload: then the answer that lies beside this program is given
 * between the marks of the request, after the window that the request asks for. Without arguments
 * it is an ordinary module that has nothing to tell. Where there is a folder "bytes" beside it, the
 * number of bytes that came down the connection is noted there.
 *
 *   cc -DSECONDS=0.15 -o python faraway.c
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MARK = 32 };

static void fail(const char *what)
{
    fprintf(stderr, "faraway: %s\n", what);
    exit(1);
}

static char *read_all(FILE *stream, size_t *length)
{
    size_t room = 1 << 16;
    char *text = malloc(room);

    *length = 0;
    for (;;) {
        if (text == NULL)
            fail("no memory");
        *length += fread(text + *length, 1, room - 1 - *length, stream);
        if (*length < room - 1)
            break;
        room *= 2;
        text = realloc(text, room);
    }
    text[*length] = '\0';
    return text;
}

static void wait_for(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};

    while (nanosleep(&left, &left) != 0)
        continue;
}

/* The line before the parameters says it. */
static double window_of(const char *request)
{
    static const char name[] = "\"window_seconds\":";
    double longest = 0;

    for (const char *at = request; (at = strstr(at, name)) != NULL;) {
        at += sizeof name - 1;
        double seconds = strtod(at, NULL);
        if (seconds > longest)
            longest = seconds;
    }
    return longest;
}

static void note_bytes(size_t bytes)
{
    char name[64];
    FILE *stream;

    if (access("bytes", F_OK) != 0)
        return;
    snprintf(name, sizeof name, "bytes/%ld", (long)getpid());
    stream = fopen(name, "w");
    if (stream == NULL || fprintf(stream, "%zu\n", bytes) < 0 || fclose(stream) != 0)
        fail("cannot note how many bytes came");
}

int main(int count, char **words)
{
    static const char begins[] = "\", {\"module\": \"";
    size_t length, answer_length, bytes = 0;
    char *slash = strrchr(words[0], '/');
    char *input = read_all(stdin, &length);
    char *request, *answer;
    FILE *stream;

    if (slash != NULL) {
        *slash = '\0';
        if (chdir(words[0]) != 0)
            fail("cannot go to its own folder");
    }
    for (int number = 0; number < count; number++)
        bytes += strlen(words[number]) + 1;
    note_bytes(bytes + length);
    if (count == 1) {
        wait_for(SECONDS);
        puts("{\"changed\": false}");
        return 0;
    }
    request = memmem(input, length, begins, sizeof begins - 1);
    if (request == NULL || request - input < MARK)
        fail("no request follows the payload");
    stream = fopen("answer", "r");
    if (stream == NULL)
        fail("it has no answer");
    answer = read_all(stream, &answer_length);
    wait_for(SECONDS + window_of(request));
    printf("\n%.*s%s%.*s\n", MARK, request - MARK, answer, MARK, request - MARK);
    return 0;
}
