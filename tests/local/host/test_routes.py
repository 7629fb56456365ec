"""Route templates: what they match, and which of two is tried first."""

import pytest

from local.host.functions import CannotServe, Function
from local.host.routes import RouteTable, compile_route


def a_function(route: str | None, *, name: str = "f", methods: list[str] | None = None) -> Function:
    trigger = {"type": "httpTrigger", "direction": "IN", "name": "req", "route": route, "methods": methods}
    return Function(name=name, id=name, bindings=(trigger,))


def a_table(*routes: str, prefix: str = "") -> RouteTable:
    table = RouteTable()
    for route in routes:
        table.add(compile_route(a_function(route, name=route), prefix=prefix))
    return table


def winner(table: RouteTable, path: str, method: str = "GET") -> tuple[str, dict[str, str]] | None:
    found = table.find(method, path)
    return None if found is None else (found[0].name, dict(found[1]))


@pytest.mark.parametrize(
    ("route", "path", "parameters"),
    [
        ("v1/jobs", "/v1/jobs", {}),
        ("v1/jobs", "/v1/jobs/", {}),
        ("v1/jobs", "/V1/Jobs", {}),
        ("v1/jobs/{id}", "/v1/jobs/job_1", {"id": "job_1"}),
        ("v1/jobs/{id}/cancel", "/v1/jobs/a%2Fb/cancel", {"id": "a%2Fb"}),
        ("{id:int}", "/-12", {"id": "-12"}),
        (
            "{id:guid}",
            "/8d3f0f4a-0000-4000-8000-00000000000a",
            {"id": "8d3f0f4a-0000-4000-8000-00000000000a"},
        ),
        ("{a}/{b?}", "/x", {"a": "x"}),
        ("{a}/{b?}", "/x/y", {"a": "x", "b": "y"}),
        ("files/{*rest}", "/files/a/b%20c/d", {"rest": "a/b c/d"}),
        ("files/{*rest}", "/files/a%0Ab", {"rest": "a\nb"}),
        ("files/{*rest}", "/files", {}),
        ("{name}.{ext}", "/report.tar.gz", {"name": "report", "ext": "tar.gz"}),
        ("{id:int:long}", "/7", {"id": "7"}),
        ("{*rest}", "/", {"rest": ""}),
    ],
)
def test_a_template_matches_and_gives_decoded_parameters(
    route: str, path: str, parameters: dict[str, str]
) -> None:
    assert winner(a_table(route), path) == (route, parameters)


@pytest.mark.parametrize(
    ("route", "path"),
    [
        ("v1/jobs", "/v1/jobs/1"),
        ("v1/jobs/{id}", "/v1/jobs"),
        ("v1/jobs/{id}", "/v1/jobs/a/b"),
        ("{id:int}", "/12a"),
        ("{word:alpha}", "/a1"),
        ("a.b", "/axb"),
    ],
)
def test_a_template_does_not_match(route: str, path: str) -> None:
    assert winner(a_table(route), path) is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/jobs/latest", "jobs/latest"),
        ("/jobs/1", "jobs/{n:int}"),
        ("/jobs/x.json", "jobs/{name}.json"),
        ("/jobs/x", "jobs/{id}"),
        ("/jobs/x/y", "{*all}"),
        ("/jobs/latest/rows", "jobs/latest/{part}"),
        ("/jobs/other/rows", "jobs/{id}/rows"),
    ],
)
def test_the_more_specific_template_wins_whatever_the_order(path: str, expected: str) -> None:
    routes = [
        "{*all}",
        "jobs/{id}",
        "jobs/{n:int}",
        "jobs/{name}.json",
        "jobs/latest",
        "jobs/{id}/rows",
        "jobs/latest/{part}",
    ]

    for order in (routes, routes[::-1]):
        found = winner(a_table(*order), path)
        assert found is not None
        assert found[0] == expected


def test_two_functions_share_a_path_by_method() -> None:
    table = RouteTable()
    for method in ("GET", "POST"):
        table.add(compile_route(a_function("jobs", name=method, methods=[method]), prefix=""))

    assert winner(table, "/jobs", "POST") == ("POST", {})
    assert winner(table, "/jobs", "DELETE") is None


def test_without_a_route_the_name_is_the_route_below_the_prefix() -> None:
    table = RouteTable()
    table.add(compile_route(a_function(None, name="health"), prefix="api"))

    assert winner(table, "/api/health") == ("health", {})
    assert winner(table, "/health") is None


@pytest.mark.parametrize("route", ["{id:regex(^a$)}", "a{b", "{id:nonsense}"])
def test_a_template_that_is_not_understood_is_refused(route: str) -> None:
    with pytest.raises(CannotServe):
        compile_route(a_function(route), prefix="")
