"""Patterns of blob triggers, and URLs of blobs."""

import pytest

from local.host.blob_paths import BlobPath, compile_path, path_of_url
from local.host.functions import CannotServe


def path(text: str) -> BlobPath:
    container, _, name = text.partition("/")
    return BlobPath(container=container, name=name)


@pytest.mark.parametrize(
    ("pattern", "blob", "tokens"),
    [
        ("documents/{name}", "documents/a/b/c.txt", {"name": "a/b/c.txt"}),
        ("documents/{name}", "documents/with\nline.txt", {"name": "with\nline.txt"}),
        ("documents/{name}", "documents/", None),
        ("documents/{name}", "other/a.txt", None),
        ("documents", "documents/a/b.txt", {}),
        ("documents/{name}.{extension}", "documents/a.b.txt", {"name": "a.b", "extension": "txt"}),
        ("documents/{name}.pdf", "documents/apdf", None),
        ("{container}/in/{name}", "texts/in/a.txt", {"container": "texts", "name": "a.txt"}),
        ("{container}/{name}", "texts/in/a.txt", {"container": "texts", "name": "in/a.txt"}),
        ("documents/exact (1).txt", "documents/exact (1).txt", {}),
    ],
)
def test_a_pattern_takes_a_path_and_its_tokens(
    pattern: str, blob: str, tokens: dict[str, str] | None
) -> None:
    assert compile_path(pattern).match(path(blob)) == tokens


@pytest.mark.parametrize(
    "pattern", ["documents/{name", "documents/{}", "documents/{a-b}", "documents/{a}/{a}"]
)
def test_a_pattern_that_is_not_understood_cannot_be_served(pattern: str) -> None:
    with pytest.raises(CannotServe):
        compile_path(pattern)


@pytest.mark.parametrize(
    ("url", "blob"),
    [
        ("http://127.0.0.1:10000/account/documents/a%20b/%2520%2B%23.txt", "documents/a b/%20+#.txt"),
        ("http://localhost:10000/account/documents/a.txt", "documents/a.txt"),
        ("https://account.blob.core.windows.net/documents/a//b.txt", "documents/a//b.txt"),
        ("https://account.blob.core.windows.net/documents/%C3%BC.txt", "documents/ü.txt"),
    ],
)
def test_a_url_names_a_blob(url: str, blob: str) -> None:
    assert path_of_url(url) == path(blob)


@pytest.mark.parametrize(
    "url", ["", "nonsense", "http://127.0.0.1/account/documents", "https://a.b/documents/"]
)
def test_a_url_that_names_no_blob_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="does not name a blob"):
        path_of_url(url)
