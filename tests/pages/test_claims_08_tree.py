"""Chapter 8 says nothing of the radix tree, tenants and replicas that its own runs do not show."""

import json
from functools import cache

import pytest

from sim.studies import caches, replicas
from tests.chapters import ROOT
from tests.pages.rehearsal import open_page
from ui.results import runs
from ui.subjects.prefix import trees
from ui.words.numbers import percent, seconds

CACHE = open_page("08_prefix_cache")
PAGE = CACHE.constants
QUIZ = {
    item["id"]: item
    for item in json.loads((ROOT / "assets" / "quiz" / "08.json").read_text("utf-8"))["items"]
}


def shown(item):
    """The state into which an item's "show me" leads."""
    return CACHE.at(QUIZ[item]["link"]["query"])


def values(played):
    return [card.value for card in played.cards]


# -- the tree ------------------------------------------------------------------------------------


def tree(**controls):
    played = CACHE.play("tree", **controls)
    return played, played.said["tree_result"], played.frames[0]


def served(slots, order):
    return runs.tree(trees.queue(), slots, order)


def test_a_c_e_g_go_to_the_tutor_and_b_d_f_to_the_translator():
    tutor, translator, *_ = (prompt.tokens[:5] for prompt in trees.queue())
    for who, prompt in enumerate(trees.queue()):
        assert prompt.tokens[:5] == (tutor, translator)[who % 2]


def test_the_start_shows_a_cut_a_lock_and_an_eviction():
    _, _, frames = tree()
    happened = [kind for kinds in frames.events for kind in kinds]
    assert {"node_split", "node_evicted"} <= set(happened)
    assert any(bar.locks for moment in frames.moments for bar in moment.bars)
    assert frames.moments[0].bars == ()  # and gives nothing away


def test_two_with_the_same_beginning_are_two_locks():
    assert max(bar.locks for m in tree(slots=44)[2].moments for bar in m.bars) == 1
    sorted_run = tree(slots=44, order="lpm")[2]
    assert max(bar.locks for moment in sorted_run.moments for bar in moment.bars) == 2


def test_looking_up_alone_changes_the_tree():
    steps = served(44, "lpm").steps
    assert any(step.action == "sort" and step.events for step in steps)


def test_a_parent_left_without_children_may_be_the_next_to_go():
    leaves, followed = set(), 0
    for step in served(28, "fcfs").steps:
        if step.action == "look_up":
            leaves = {node.id for node in step.nodes if node.is_leaf}
        if step.action == "evict":
            followed += any(event.node_id not in leaves for event in step.events)
    assert followed > 0


@pytest.mark.parametrize("slots", PAGE["TREE_SLOTS"])
def test_longest_prefix_never_finds_less_and_the_page_says_what_both_find(slots):
    _, said, _ = tree(slots=slots)
    first, longest = served(slots, "fcfs"), served(slots, "lpm")
    assert (said["first"], said["longest"]) == (first.num_hit_tokens, longest.num_hit_tokens)
    assert said["total"] == first.num_prompt_tokens == 66
    assert longest.num_hit_tokens >= first.num_hit_tokens


@pytest.mark.parametrize("slots", PAGE["TREE_SLOTS"])
def test_longest_prefix_serves_the_tutor_first_and_then_the_translator(slots):
    _, said, _ = tree(slots=slots)
    order = served(slots, "lpm").order
    assert [who % 2 for who in order] == [0, 0, 0, 0, 1, 1, 1]
    assert order[said["place"] - 1] == 1
    assert said["place"] == 5
    assert served(slots, "fcfs").order == tuple(range(7))


def test_first_come_pushes_out_what_is_needed_next_where_there_is_hardly_room():
    hits = served(18, "fcfs").hits
    assert hits[:6] == (0,) * 6  # everybody finds that the other role has pushed theirs out


def test_the_links_into_the_tree_show_what_they_say():
    presets = CACHE.play("tree").presets
    roomy, tight, in_order = (
        served(preset["slots"], preset.get("order", "fcfs")) for preset in presets.values()
    )
    assert roomy.num_evicted_tokens == 0
    assert roomy.num_hit_tokens == served(44, "lpm").num_hit_tokens
    assert tight.num_hit_tokens < 10
    assert in_order.num_hit_tokens == roomy.num_hit_tokens


def test_no_more_than_128_are_sorted():
    assert "128" in CACHE.play("tree").text["tree_leaves_out"]


# -- blocks or a tree ----------------------------------------------------------------------------


@pytest.mark.parametrize("size", PAGE["CACHE_BLOCKS"])
def test_blocks_find_multiples_of_their_size_and_the_tree_finds_every_token(size):
    for shared in PAGE["ALIKE"]:
        pair = caches.beginning_alike(shared, PAGE["OWN_TOKENS"], 2)
        found = runs.found_in_blocks(pair, PAGE["MANY_SLOTS"], size)[1]
        assert found == shared // size * size
        assert runs.found_in_tree(pair, PAGE["MANY_SLOTS"])[1] == shared


@pytest.mark.parametrize("size", PAGE["CACHE_BLOCKS"])
def test_with_few_slots_blocks_keep_most_of_the_document_and_the_tree_nothing(size):
    said = CACHE.play("against", cache_block=size).said["against_result"]
    document, tight = PAGE["DOCUMENT"], PAGE["TIGHT_SLOTS"]
    in_blocks = runs.found_in_blocks(document, tight, size)
    assert runs.found_in_tree(document, tight) == (0,) * len(document)
    assert said["tree_tight"] == "0%"
    assert all(found > 300 for found in in_blocks[2::2])  # of 600
    assert said["blocks_tight"] == percent(caches.hit_rate(document, in_blocks))
    assert float(said["blocks_tight"].rstrip("%")) > 55


def test_with_more_slots_both_are_fine():
    said = CACHE.play("against").said["against_result"]
    assert min(float(said[name].rstrip("%")) for name in ("blocks_roomy", "tree_roomy")) > 65


def test_the_document_has_600_tokens_the_others_90_and_there_are_six_rounds():
    document = PAGE["DOCUMENT"]
    assert len(document) == 12
    assert document[0].prefix[0].num_tokens == 600
    assert document[1].prompt_tokens == 90


# -- tenants -------------------------------------------------------------------------------------


def probes(salt):
    run = CACHE.play("tenants", salt=salt)
    return run, values(run)


def test_without_a_salt_the_probe_of_the_third_document_is_far_faster():
    played = CACHE.play("tenants")
    setup = next(s for s in played.setups if s.requests == PAGE["PROBE"].requests("none"))
    records = runs.run(setup).records
    ttft = [record.token_seconds[0] - record.request.arrival_seconds for record in records]
    _a, _b, *tried = ttft
    assert min(tried) == tried[2]  # E
    assert min(tried) < 0.1 * sorted(tried)[1]
    said = played.said["tenants_result"]
    assert said["fastest"] == seconds(tried[2])
    assert said["others"] == seconds(max(tried))


def test_with_a_salt_for_each_tenant_all_probes_look_alike_and_b_pays_for_the_system_prompt():
    _, (fastest, slowest, *_) = probes("tenant")
    assert fastest == slowest
    said = CACHE.play("tenants").said["tenants_result"]
    assert said["same"] == fastest
    assert float(said["first_salted"].split()[0]) > 5 * float(said["first_plain"].split()[0])


def test_the_more_salt_the_fewer_hits():
    rates = [float(probes(salt)[1][2].rstrip("%")) for salt in PAGE["SALTS"]]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == 0


# -- replicas ------------------------------------------------------------------------------------


def fleet(number, rule, popular=0.0):
    setup = CACHE.play("replicas", replicas=number, rule=rule, popular=f"{popular:g}")
    return setup, setup.said["replicas_result"]


@cache
def all_fleets(popular):
    """rule -> the fleets of the page, by number of replicas."""
    memory, clock = PAGE["Paged"].beside(PAGE["MODEL"], PAGE["GPU"]), PAGE["CLOCK"]
    policy = PAGE["scheduler"].Chunked(256)
    setups = {
        number: PAGE["Setup"](runs.fleet_traffic(number, float(popular)), policy, memory, clock)
        for number in PAGE["REPLICAS"]
    }
    return {
        rule: [runs.fleet(setup, number, rule) for number, setup in setups.items()]
        for rule in PAGE["RULES"]
    }


def test_round_robin_divides_the_hits_and_affinity_keeps_them():
    fleets = all_fleets("0")
    turns = [one.hit_rate for one in fleets["round_robin"]]
    sticky = [one.hit_rate for one in fleets["affinity"]]
    assert turns == sorted(turns, reverse=True)
    assert turns[-1] < 0.3 * turns[0]
    assert max(sticky) - min(sticky) < 0.02
    assert fleets["round_robin"][-1].ttft.mean > 10 * fleets["affinity"][-1].ttft.mean


def test_even_traffic_is_spread_nearly_evenly_by_affinity():
    assert all(one.imbalance < 1.25 for one in all_fleets("0")["affinity"])


def test_a_popular_prefix_makes_one_replica_hot_and_balance_cools_it():
    fleets = {rule: of_rule[-1] for rule, of_rule in all_fleets("0.6").items()}
    hot, spread = fleets["affinity"], fleets["balanced"]
    assert hot.shares[0] > 0.5  # most of the work
    assert hot.ttft.percentile(99) > 10 * spread.ttft.percentile(99)
    assert hot.ttft.mean > fleets["round_robin"].ttft.mean  # not always better
    assert spread.hit_rate < hot.hit_rate  # some hits are given up
    assert spread.imbalance < 1.5


def test_the_page_says_what_its_fleets_do():
    played, said = fleet(8, "round_robin")
    turns = all_fleets("0")["round_robin"][-1]
    assert values(played)[:2] == [percent(turns.hit_rate), seconds(turns.ttft.mean)]
    assert said["turns"] == percent(turns.hit_rate)
    assert "replicas_even" in played.said
    assert "replicas_balance" in fleet(8, "affinity", 0.6)[0].said


@pytest.mark.parametrize("popular", PAGE["POPULAR"])
@pytest.mark.parametrize("number", PAGE["REPLICAS"])
def test_affinity_is_said_to_be_worse_only_where_its_slowest_wait_longer(number, popular):
    said = CACHE.play("replicas", replicas=number, popular=popular).said
    of_rule = {
        name: fleets[PAGE["REPLICAS"].index(number)] for name, fleets in all_fleets(popular).items()
    }
    sticky, spread = of_rule["affinity"], of_rule["balanced"]
    if number == 1:
        assert {fleet.ttft.mean for fleet in of_rule.values()} == {sticky.ttft.mean}
        assert said["replicas_one"]["rate"] == percent(sticky.hit_rate)
        assert not {"replicas_result", "replicas_balance", "replicas_even"} & set(said)
        return
    is_worse = sticky.ttft.percentile(99) > spread.ttft.percentile(99)
    assert ("replicas_balance" in said) == is_worse == (number == 8 and popular == "0.6")
    assert ("replicas_even" in said) == (not is_worse)
    if is_worse:
        assert said["replicas_balance"]["turns_p99"] == seconds(
            of_rule["round_robin"].ttft.percentile(99)
        )
        assert of_rule["round_robin"].ttft.percentile(99) < spread.ttft.percentile(99)
        assert of_rule["round_robin"].ttft.mean < sticky.ttft.mean
    assert spread.hit_rate < sticky.hit_rate  # a prefix that moves on is computed again
    assert of_rule["round_robin"].hit_rate < sticky.hit_rate


def test_for_each_replica_there_are_as_many_requests_and_prefixes_as_the_page_says():
    said = CACHE.play("replicas").said["replicas"]
    for number in PAGE["REPLICAS"]:
        requests = replicas.traffic(number, 0.0)
        assert len(requests) == said["each"] * number
        assert len({request.prefix for request in requests}) <= said["prefixes"] * number


# -- self-check ----------------------------------------------------------------------------------


def test_show_me_leads_to_the_order_that_finds_more():
    assert shown("order_of_the_queue").said["tree_result"]["longest"] == 38


def test_show_me_leads_to_the_probe_that_is_faster():
    fastest, slowest, *_ = values(shown("private"))
    assert fastest != slowest


def test_show_me_leads_to_few_hits():
    assert float(values(shown("round_robin"))[0].rstrip("%")) < 30
