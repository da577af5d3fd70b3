"""Studies: policies x environments x runs, what they add up to, and the page that shows it."""

from paretozoom.study.study import Part, Progress, Spec, Study, parts_of, play, run_study, seed_of, write_results

__all__ = ["Part", "Progress", "Spec", "Study", "parts_of", "play", "run_study", "seed_of", "write_results"]
