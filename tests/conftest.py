"""Fixtures and settings that every suite may ask for."""

from hypothesis import settings

pytest_plugins = ["tests.support.azurite"]

# Nothing is timed in tests: a busy machine is no defect.
settings.register_profile("postern", deadline=None)
settings.load_profile("postern")
