"""Batches: the same lines as live calls, cheaper and later, through the providers' batch interfaces.

``ledger`` says what is under way, ``courier`` hands over and collects, ``harvest`` finds what a crash left unclear and
stores results, ``batch_stages`` says which lines the stages of a run want.
"""
