"""How a model is asked for responses."""

from semece.sampling.request_templates import seed_base


def test_the_first_seed_of_a_question_is_a_multiple_of_fifty_of_thirty_bits():
    bases = [seed_base(seed, f"q{i}") for seed in range(3) for i in range(200)]
    assert all(base % 50 == 0 and 0 <= base < 2**30 for base in bases)
    assert max(bases) > 2**29
    assert len(set(bases)) == len(bases)
