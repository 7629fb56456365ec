"""Lists: newest first, page by page, by filters."""

from itertools import chain, pairwise

import pytest

from tests.integration.postern import Caller, Json, chat, problem

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def five(support: Caller) -> list[Json]:
    """Five finished jobs of a project of their own, oldest first; the second uses another alias."""
    jobs = [
        support.submitted(
            chat(f"Job {n} of the list."),
            alias="dated" if n == 1 else "summarize",
            tags={"project": "listing"},
        )
        for n in range(5)
    ]
    return [support.finished(job) for job in jobs]


def pages(caller: Caller, **query: str | int) -> list[list[Json]]:
    found, after = [], None
    while True:
        page = caller.get("/v1/jobs", **query, **({} if after is None else {"after": after})).json()
        found.append(page["data"])
        after = page["next"]
        assert page["has_more"] is (after is not None)
        if after is None:
            return found


def joined(found: list[list[Json]]) -> list[Json]:
    return list(chain.from_iterable(found))


def names(jobs: list[Json]) -> list[str]:
    return [job["id"] for job in jobs]


def test_a_list_is_newest_first_and_holds_whole_jobs(support: Caller, five: list[Json]) -> None:
    [page] = pages(support, project="listing")

    assert page == five[::-1]


def test_pages_join_without_gap_or_repeat(support: Caller, five: list[Json]) -> None:
    found = pages(support, project="listing", limit=2)

    assert [len(page) for page in found] == [2, 2, 1]
    assert names(joined(found)) == names(five[::-1])


def test_a_full_last_page_is_followed_by_none(support: Caller, five: list[Json]) -> None:
    assert [len(page) for page in pages(support, project="listing", limit=5)] == [5]


def test_a_new_job_does_not_move_the_pages(support: Caller, five: list[Json]) -> None:
    first = support.get("/v1/jobs", project="listing", alias="summarize", limit=2).json()
    later = support.submitted(chat("Later."), tags={"project": "listing-later"})

    second = support.get(
        "/v1/jobs", project="listing", alias="summarize", limit=2, after=first["next"]
    ).json()

    assert names(first["data"] + second["data"]) == names([five[4], five[3], five[2], five[0]])
    assert later["id"] not in names(second["data"])


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ({"alias": "dated"}, [1]),
        ({"alias": "summarize", "status": "completed"}, [4, 3, 2, 0]),
        ({"status": "failed"}, []),
        ({"alias": "nowhere"}, []),
    ],
)
def test_filters_hold_together(
    support: Caller, five: list[Json], query: dict[str, str], places: list[int]
) -> None:
    [page] = pages(support, project="listing", **query)

    assert names(page) == [five[place]["id"] for place in places]


def test_without_filters_all_own_jobs_come(support: Caller, five: list[Json]) -> None:
    everything = joined(pages(support, limit=200))

    assert set(names(five)) <= set(names(everything))
    assert all(a["created_at"] >= b["created_at"] for a, b in pairwise(everything))
    assert len(names(everything)) == len(set(names(everything)))


def test_an_operator_pages_through_every_tenants_jobs(
    operators: Caller, support: Caller, retail: Caller, five: list[Json]
) -> None:
    theirs = retail.submitted(chat("Another tenant's."), tags={"project": "listing"})

    found = pages(operators, project="listing", limit=2)
    of_one = pages(operators, project="listing", tenant="retail")

    assert names(joined(found)) == [theirs["id"], *names(five[::-1])]
    assert names(of_one[0]) == [theirs["id"]]


@pytest.mark.parametrize("limit", ["0", "201", "-1", "1.5", "many", "9" * 30, "٣", "1e2"])
def test_a_limit_outside_1_to_200_is_refused(support: Caller, limit: str) -> None:
    assert problem(support.get("/v1/jobs", limit=limit))["status"] == 400


@pytest.mark.parametrize("status", ["done", "Completed", "completed,failed", "\u0000"])
def test_a_status_nobody_has_is_refused(support: Caller, status: str) -> None:
    assert problem(support.get("/v1/jobs", status=status))["status"] == 400


@pytest.mark.parametrize("after", ["x", "job_1", "=", "a" * 5000, "\u0000", "AAAA", "../.."])
def test_a_cursor_nobody_gave_is_refused(support: Caller, after: str) -> None:
    assert problem(support.get("/v1/jobs", after=after))["status"] == 400


def test_a_cursor_of_another_list_is_refused(support: Caller, retail: Caller, five: list[Json]) -> None:
    cursor = support.get("/v1/jobs", project="listing", limit=2).json()["next"]

    assert problem(support.get("/v1/jobs", project="other", after=cursor))["status"] == 400
    assert problem(retail.get("/v1/jobs", project="listing", after=cursor))["status"] == 400
