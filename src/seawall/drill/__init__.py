"""The drill: a real server, a real outage and real clients on loopback, one run for each retry strategy.

`run.drill(settings)` does it; `metrics` and `verdict` are pure and say what happened.
"""
