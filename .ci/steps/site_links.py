"""Checks that the links between the pages of the documentation site lead to a page and an anchor: `site_links.py SITE`."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value)
            elif name == "id":
                self.anchors.add(value)


def main(site):
    pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name not in ("print.html", "404.html", "toc.html")}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            file, anchor = urldefrag(unquote(link))
            target = (path.parent / file).resolve() if file else path
            if "://" in link or link.startswith(("mailto:", "data:")):
                continue
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    if broken:
        sys.exit("broken links:\n" + "\n".join(sorted(set(broken))))
    print(f"{len(pages)} pages, no broken link")


main(Path(sys.argv[1]).resolve())
