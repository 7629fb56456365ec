"""Fixtures and settings that every suite may ask for."""

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.support.azurite"]

# Nothing is timed in tests: a busy machine is no defect.
settings.register_profile("postern", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("postern")
