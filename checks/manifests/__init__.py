"""Kubernetes manifests against strict schemas of the parts we use."""
