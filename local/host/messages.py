"""Stand-ins for the protobuf messages that the host and the Python worker exchange.

The worker library never imports protobuf. It is handed a namespace and asks of it keyword constructors,
attribute access, `WhichOneof` and a few constants; this module is that namespace. It knows no transport.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar


class Message:
    """A record built from keywords; fields that were not given read as None."""

    fields: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **values: Any) -> None:
        if unknown := values.keys() - set(self.fields):
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        if name in type(self).fields:
            return None
        raise AttributeError(f"{type(self).__name__} has no field {name!r}")


class Choice(Message):
    """A message of which at most one field is set, like a protobuf `oneof`."""

    group: ClassVar[str] = ""
    types: ClassVar[dict[str, type]] = {}

    def __init__(self, **values: Any) -> None:
        given = {name: value for name, value in values.items() if value is not None}
        if len(given) > 1:
            raise ValueError(f"{type(self).__name__} takes one field, not {', '.join(sorted(given))}")
        for name, value in given.items():
            if not isinstance(value, self.types.get(name, object)):
                raise TypeError(f"{type(self).__name__}.{name} cannot hold a {type(value).__name__}")
        super().__init__(**given)

    def WhichOneof(self, group: str) -> str | None:  # noqa: N802 - protobuf's name, called by the worker
        if group != self.group:
            raise ValueError(f"{type(self).__name__} has no group {group!r}")
        return next(iter(self.__dict__), None)


class TypedData(Choice):
    group = "data"
    types: ClassVar[dict[str, type]] = {
        "string": str,
        "json": str,
        "bytes": bytes,
        "stream": bytes,
        "int": int,
        "double": float,
    }
    fields = (
        *types,
        "http",
        "collection_bytes",
        "collection_string",
        "collection_double",
        "collection_sint64",
        "model_binding_data",
        "collection_model_binding_data",
    )

    @property
    def value(self) -> Any:
        """What the set field holds; None when no field is set."""
        return next(iter(self.__dict__.values()), None)


class ParameterBinding(Choice):
    group = "rpc_data"
    fields = ("data", "rpc_shared_memory")

    def __init__(self, *, name: str | None = None, **values: Any) -> None:
        super().__init__(**values)
        self.__dict__ = {**self.__dict__, "name": name}


class StatusResult(Message):
    fields = ("status", "result", "exception", "logs")
    Failure = 0
    Success = 1
    Cancelled = 2


class RpcException(Message):
    fields = ("source", "stack_trace", "message", "is_user_exception", "type")


class BindingInfo(Message):
    fields = ("type", "direction", "data_type", "properties")
    out = 1
    inout = 2
    undefined = 0
    string = 1
    binary = 2
    stream = 3


# `in` is a keyword of Python, and still the name of the constant.
setattr(BindingInfo, "in", 0)


class RpcRetryOptions(Message):
    fields = ("max_retry_count", "delay_interval", "minimum_interval", "maximum_interval", "retry_strategy")


class RpcFunctionMetadata(Message):
    fields = (
        "name",
        "directory",
        "script_file",
        "entry_point",
        "bindings",
        "is_proxy",
        "status",
        "language",
        "raw_bindings",
        "function_id",
        "managed_dependency_enabled",
        "retry_options",
        "properties",
    )


class FunctionMetadataResponse(Message):
    fields = ("function_metadata_results", "result", "use_default_metadata_indexing")


class FunctionLoadRequest(Message):
    fields = ("function_id",)


class FunctionLoadResponse(Message):
    fields = ("function_id", "result", "is_dependency_downloaded")


class WorkerMetadata(Message):
    fields = ("runtime_name", "runtime_version", "worker_version", "worker_bitness", "custom_properties")


class WorkerInitRequest(Message):
    fields = ("capabilities", "function_app_directory", "host_version")


class WorkerInitResponse(Message):
    fields = ("worker_version", "capabilities", "result", "worker_metadata")


class InvocationRequest(Message):
    fields = (
        "invocation_id",
        "function_id",
        "input_data",
        "trigger_metadata",
        "trace_context",
        "retry_context",
    )


class InvocationResponse(Message):
    fields = ("invocation_id", "output_data", "return_value", "result")


class RpcTraceContext(Message):
    fields = ("trace_parent", "trace_state", "attributes")


class RetryContext(Message):
    fields = ("retry_count", "max_retry_count", "exception")


class RpcHttp(Message):
    fields = (
        "method",
        "url",
        "headers",
        "body",
        "params",
        "status_code",
        "query",
        "enable_content_negotiation",
        "raw_body",
        "cookies",
    )


class RpcHttpCookie(Message):
    fields = ("name", "value", "domain", "path", "expires", "secure", "http_only", "same_site", "max_age")
    SameSite = SimpleNamespace(**{"None": 0, "Lax": 1, "Strict": 2, "ExplicitNone": 3})


class NullableString(Message):
    fields = ("value",)


class NullableBool(Message):
    fields = ("value",)


class NullableDouble(Message):
    fields = ("value",)


class NullableTimestamp(Message):
    fields = ("value",)


class Timestamp(Message):
    fields = ("seconds", "nanos")


class ModelBindingData(Message):
    fields = ("version", "source", "content_type", "content")


class CollectionModelBindingData(Message):
    fields = ("model_binding_data",)


class CollectionString(Message):
    fields = ("string",)


class CollectionBytes(Message):
    fields = ("bytes",)


class CollectionSInt64(Message):
    fields = ("sint64",)
