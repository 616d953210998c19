"""Rules that every page of the back office keeps: its buttons, its times and its ids."""

from playwright.sync_api import Page

_RULES = r"""() => {
    if (!document.querySelector("#menu")) return []; // a letter
    const faults = [], shown = part => part.checkVisibility({contentVisibilityAuto: true});
    const all = (selector, part = document) => [...part.querySelectorAll(selector)].filter(shown);
    const name = part => part.textContent.trim();
    const primary = all("main .primary");
    if (primary.length > 1) faults.push(`primary actions: ${primary.map(name)}`);
    for (const danger of all("main .danger")) {
        const [top, bottom] = [danger.getBoundingClientRect().top, danger.getBoundingClientRect().bottom];
        for (const other of all(":is(button, .button):not(.copy, .danger)", danger.closest("main"))) {
            const place = other.getBoundingClientRect();
            const isInColumn = other.closest(".check-side") === danger.closest(".check-side");
            if (isInColumn && place.top < bottom && top < place.bottom)
                faults.push(`${name(danger)} is beside ${name(other)}`);
        }
    }
    for (const row of all("main .buttons")) {
        const buttons = all("button:not(.small, .copy), .button:not(.small)", row);
        const heights = new Set(buttons.map(button => button.offsetHeight));
        if (heights.size > 1) faults.push(`heights in one row: ${[...heights]}`);
    }
    const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const raw = [
        ["a long id", /(?<![\w-])[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{40,}\b/, "code, pre, .tree"],
        ["a raw time", /\d{4}-\d\d-\d\d[T ]\d\d:\d\d/, "time, code, pre, .tree, .sentences"],
    ];
    while (texts.nextNode()) {
        const {data, parentElement} = texts.currentNode;
        for (const [what, pattern, homes] of raw)
            if (pattern.test(data) && !parentElement.closest(`textarea, option, output, ${homes}`))
                faults.push(`${what}: ${data.trim().slice(0, 80)}`);
    }
    return faults;
}"""


def broken_rules(page: Page) -> list[str]:
    """Return which rules a page breaks.

    - It has at most one primary action.
    - What cannot be undone has a row for itself.
    - Buttons of a row have one height.
    - Ids are in `code`, which shortens them, and times are in `time`. Records show both as they came.
    """
    return page.evaluate(_RULES)
