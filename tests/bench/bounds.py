"""What k of n say about the rate behind them."""

import math

CONFIDENCE = 0.95


def chance_of_at_most(k, n, rate):
    return sum(math.comb(n, i) * rate ** i * (1 - rate) ** (n - i) for i in range(k + 1))


def upper(k, n):
    """The bound of Clopper and Pearson, one-sided: a higher rate gives k or fewer in less than 5 %.

    Of none in n it is 1 - 0.05^(1/n), about 3 / n (the rule of three).
    """
    if k >= n:
        return 1.0
    low, high = k / n, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if chance_of_at_most(k, n, middle) > 1 - CONFIDENCE:
            low = middle
        else:
            high = middle
    return high
