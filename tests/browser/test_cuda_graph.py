"""Chapter 11 in a browser: kernels one by one or replayed on one clock, and three ways of steps."""

from playwright.sync_api import expect

from tests.browser import helpers
from tests.browser.verbs import button, note, player, scrub, step_of


def test_the_gpu_waits_for_every_launch_and_for_one_replay(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/cuda_graph")
    expect(page.get_by_text("Take a guess first")).to_be_visible()
    expect(page.locator("[data-testid=stMetric]")).to_have_count(0)  # they would tell the answer
    expect(note(page)).to_contain_text("the GPU has the whole graph of 192 kernels")
    helpers.expect_step(page, 0)

    button(page, "forward").click()  # both have executed kernel 1
    expect(note(page)).to_contain_text("the GPU waits for 15.2 µs")
    expect(note(page)).to_contain_text("Replayed: kernel 1 is done; the next one starts at once")
    page.keyboard.press("ArrowLeft")
    helpers.expect_step(page, 0)

    button(page, "autopause").click()
    button(page, "play").click()  # it stops where the replay is through
    expect(player(page)).to_have_attribute("data-playing", "true")
    expect(note(page)).to_contain_text(
        "Replayed: the first 16 of 192 kernels took 97.4 µs", timeout=20_000
    )
    expect(player(page)).to_have_attribute("data-playing", "false")
    replayed = step_of(page)

    scrub(page, 0.99)
    expect(note(page)).to_contain_text("One by one: the first 16 of 192 kernels took 325 µs")
    assert step_of(page) > 1.5 * replayed

    page.get_by_role("button", name="Skip", exact=True).click()
    expect(page.locator("[data-testid=stMetric]").last).to_contain_text("GPU busy 47.7%")
    assert helpers.faults(page) == []


def test_a_large_batch_makes_kernels_queue_and_keeps_the_player(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/cuda_graph", part="hook", batch=512)
    helpers.nudge(page, "Requests decoding")
    helpers.expect_address(page, "/cuda_graph", batch=1024)
    button(page, "forward").click()
    expect(note(page)).to_contain_text("it queues on the GPU, 1 before it")


def test_ahead_a_step_is_prepared_while_the_one_before_runs(new_page):
    page = new_page("zh", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/cuda_graph", part="ahead", model="Llama-3.1-8B")
    same = "逐个启动、整图回放、提前调度：CPU 准备好了第 1 步，这段时间 GPU 闲着。"
    expect(note(page)).to_have_text(same)
    button(page, "forward").click()
    expect(note(page)).to_contain_text("提前调度：CPU 准备好了第 2 步，GPU 同时忙了 1.00 ms")
    button(page, "next").click()  # the first token of two ways
    expect(note(page)).to_contain_text("整图回放、提前调度：第 1 步的 token 出来了")
    page.keyboard.press("End")
    expect(note(page)).to_contain_text("第 3 步的 token 出来了，离上一个 8.69 ms")
    assert helpers.faults(page) == []


def test_one_request_more_than_the_largest_size_falls_out_of_the_graph(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/cuda_graph", part="sizes", rows=64)
    used = page.locator("[data-testid=stMetric]").first
    expect(used).to_contain_text("64")
    helpers.nudge(page, "Requests decoding")
    expect(used).to_contain_text("none")
    page.get_by_role("link", name="Captured further").click()
    expect(used).to_contain_text("72")
    helpers.expect_address(page, "/cuda_graph", part="sizes", rows=65, largest=128)
