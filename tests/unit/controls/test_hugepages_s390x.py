"""The default huge page of s390x is 1 MiB."""

import packs
from ansible.module_utils.hostproof.controls.hugepages.control import CONTROL as hugepages
from cases import cases
from default_policies import changed_policy

PAGES = 16386


def host(page_kib: int) -> packs.Machine:
    """A host with a pool of this page size, whose instance runs in it."""
    machine = packs.database_host().memory(Hugepagesize=page_kib)
    machine.pool(PAGES, 0)
    for path in [path for path in machine.files if "hugepages-2048kB" in path]:
        del machine.files[path]
    machine.nodes(PAGES // 2, PAGES // 2, page_kib=page_kib)
    text = f"{packs.HEADER}vm.hugetlb_shm_group = {packs.OINSTALL}\nvm.nr_hugepages = {PAGES}\n"
    return machine.file(packs.SYSCTL_FILE, text)


@cases(
    "page_kib changes status desired",
    (1024, {}, "pass", "1.0 MiB"),
    (1024, {"page_size": "1G"}, "fail", "1.0 GiB"),
    (2048, {}, "pass", "2.0 MiB"),
)
def test_the_page_size_of_the_architecture(page_kib, changes, status, desired):
    policy = hugepages.policy_from(changed_policy("hugepages", **changes))
    findings = hugepages.judge(hugepages.read(host(page_kib), policy), policy)
    (result,) = [finding for finding in findings if finding.check == "hugepages.page_size"]
    assert (result.status, result.desired) == (status, desired)


def test_a_pool_of_pages_of_1_mib_is_ready_and_left_alone():
    policy = hugepages.policy_from(changed_policy("hugepages"))
    facts = hugepages.read(host(1024), policy)
    findings = {finding.check: finding for finding in hugepages.judge(facts, policy)}
    pool = findings["hugepages.pool_covers_sga"]
    assert (pool.status, pool.desired) == ("pass", f"{PAGES} pages (16.0 GiB: ORCL {PAGES})")
    assert findings["hugepages.pool_persisted"].status == "pass"
    plan = hugepages.plan(facts, policy)
    assert (plan.changes, plan.refusals) == ([], [])
