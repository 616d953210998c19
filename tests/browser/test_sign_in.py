"""Sign-in in a browser: with a pasted code, after mistakes, and with the keyboard."""

from playwright.sync_api import expect

from tests.browser.people import OWNER, another, ask_for_code, enter, sign_in
from tests.browser.service import service


def test_the_code_of_the_mail_signs_the_person_in(site, page):
    code = ask_for_code(site, page, OWNER)
    expect(page.get_by_text(OWNER)).to_be_visible()
    enter(page, code)
    expect(page).to_have_url(f"{site.url}/admin/")
    expect(page.get_by_role("heading", name="Start", exact=True)).to_be_visible()


def test_the_fields_support_autofill(site, page):
    address = page.get_by_label("Email address")
    expect(address).to_be_focused()
    expect(address).to_have_attribute("type", "email")
    expect(address).to_have_attribute("autocomplete", "username")
    ask_for_code(site, page, OWNER)
    code = page.get_by_label("Code")
    expect(code).to_be_focused()
    expect(code).to_have_attribute("autocomplete", "one-time-code")
    expect(code).to_have_attribute("inputmode", "numeric")


def test_a_code_may_be_pasted_with_spaces_or_a_dash(site, open_page):
    page = open_page(site, permissions=["clipboard-read", "clipboard-write"])
    for shape in ("{} {}", "{}-{}", " {}{} "):
        page.context.clear_cookies()
        page.goto("/sign-in/")
        code = ask_for_code(site, page, OWNER)
        page.evaluate("text => navigator.clipboard.writeText(text)", shape.format(code[:3], code[3:]))
        page.get_by_label("Code").press("Control+v")
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{site.url}/admin/")


def test_a_person_without_an_account_sees_the_same_page(site, page):
    page.get_by_label("Email address").fill("unknown@live.example")
    page.get_by_role("button", name="Email me a code").click()
    expect(page.get_by_text("If unknown@live.example has an account, a code is on its way")).to_be_visible()
    enter(page, "123456")
    expect(page.get_by_role("alert")).to_contain_text("This code is wrong or no longer valid.")


def test_a_wrong_code_has_an_error_at_its_field_and_the_right_one_still_works(site, page):
    code = ask_for_code(site, page, OWNER)
    enter(page, another(code))
    expect(page.get_by_role("alert")).to_have_text(
        "This code is wrong or no longer valid. Try again, or start again to get a new one."
    )
    field = page.get_by_label("Code")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.locator(f"#{field.get_attribute('aria-describedby')}")).to_have_text(
        page.get_by_role("alert").inner_text()
    )
    enter(page, code)
    expect(page).to_have_url(f"{site.url}/admin/")


def test_an_incomplete_code_has_an_error(site, page):
    ask_for_code(site, page, OWNER)
    for code, sentence in (
        ("", "Enter the six digits."), ("12345", "The code has six digits."), ("abc", "The code has six digits."),
    ):  # fmt: skip
        page.goto("/sign-in/code/")
        enter(page, code)
        expect(page.get_by_role("alert")).to_have_text(sentence)


def test_an_invalid_address_has_an_error(page):
    for address, sentence in (
        ("", "Enter your email address."),
        ("owner", "This does not look like an email address."),
    ):
        page.get_by_label("Email address").fill(address)
        page.get_by_role("button", name="Email me a code").click()
        expect(page.get_by_role("alert")).to_have_text(sentence)


def test_after_five_wrong_codes_the_right_one_is_refused_and_a_new_one_works(site, page):
    code = ask_for_code(site, page, OWNER)
    for _ in range(5):
        enter(page, another(code))
        expect(page.get_by_role("alert")).to_be_visible()
    enter(page, code)
    expect(page.get_by_role("alert")).to_contain_text("start again to get a new one")
    page.get_by_role("link", name="Send a new code").click()
    sign_in(site, page)


def test_too_many_requests_for_a_code_are_refused_with_the_time_to_wait(open_page):
    with service(CODES_PER_HOUR="1") as site:
        page = open_page(site)
        ask_for_code(site, page, OWNER)
        page.get_by_role("link", name="Send a new code").click()
        page.get_by_label("Email address").fill(OWNER)
        with page.expect_response("**/sign-in/") as answered:
            page.get_by_role("button", name="Email me a code").click()
        assert answered.value.status == 429
        expect(page.get_by_role("alert")).to_have_text("Too many codes were requested. Try again in 60 minutes.")
        expect(page.get_by_label("Email address")).to_have_value(OWNER)


def test_sign_in_leads_to_the_requested_page(site, open_page):
    page = open_page(site, "/account/sessions/")
    code = ask_for_code(site, page, OWNER)
    enter(page, code)
    expect(page.get_by_role("heading", name="Where you are signed in")).to_be_visible()


def test_the_keyboard_is_enough_to_sign_in_and_out(site, page):
    def ask() -> None:
        expect(page.get_by_label("Email address")).to_be_focused()
        page.keyboard.type(OWNER)
        page.keyboard.press("Enter")
        expect(page.get_by_label("Code")).to_be_focused()

    page.keyboard.type(site.code(OWNER, ask))
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{site.url}/admin/")
    page.goto("/account/sessions/")
    reached = []
    for _ in range(page.get_by_role("button").count() + 1):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        assert focused.evaluate("element => getComputedStyle(element).outlineStyle") != "none", "focus can be seen"
        reached.append(focused.inner_text())
        if reached[-1] == "Sign out":
            break
    page.keyboard.press("Enter")
    assert reached[-1] == "Sign out"
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
