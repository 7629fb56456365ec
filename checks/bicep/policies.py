"""What we ask of the templates beyond their being right: no keys, no open doors, no secret that leaves."""

import re
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from checks.bicep.language import CLOUD_HOSTS, REFUSED_SETTINGS
from checks.bicep.syntax import Findings, key_of, literal, named, properties, string_of, text, walk
from checks.bicep.template import Module, Resource, Template

ROLES: Final = "roles.bicep"
# The one stage that needs a key: the webhook of the blob trigger takes no other proof.
KEY_STAGE: Final = "subscriptions.bicep"
_GUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KEY_FUNCTION: Final = re.compile(r"list[A-Z]\w*|getSecret")
# `isPrivate ? closed : open`: what may be open in development only.
_PRIVATE: Final = "isPrivate"
_CONTAINER_APP: Final = "Microsoft.App/containerApps"


@dataclass(frozen=True, slots=True)
class Demand:
    """Of every resource of `type`: the property at `path` is `value`."""

    type: str
    path: str
    value: object


DEMANDS: Final = (
    Demand("Microsoft.Storage/storageAccounts", "allowSharedKeyAccess", False),
    Demand("Microsoft.Storage/storageAccounts", "allowBlobPublicAccess", False),
    Demand("Microsoft.Storage/storageAccounts", "minimumTlsVersion", "TLS1_2"),
    Demand("Microsoft.Storage/storageAccounts", "supportsHttpsTrafficOnly", True),
    Demand("Microsoft.Storage/storageAccounts/blobServices/containers", "publicAccess", "None"),
    Demand("Microsoft.ServiceBus/namespaces", "disableLocalAuth", True),
    Demand("Microsoft.ServiceBus/namespaces", "minimumTlsVersion", "1.2"),
    Demand("Microsoft.EventGrid/topics", "disableLocalAuth", True),
    Demand("Microsoft.EventGrid/topics", "minimumTlsVersionAllowed", "1.2"),
    Demand("Microsoft.CognitiveServices/accounts", "disableLocalAuth", True),
    Demand("Microsoft.Insights/components", "DisableLocalAuth", True),
    Demand("Microsoft.OperationalInsights/workspaces", "features.disableLocalAuth", True),
    Demand("Microsoft.Web/sites", "httpsOnly", True),
    Demand("Microsoft.Web/sites", "siteConfig.minTlsVersion", "1.2"),
    Demand("Microsoft.Web/sites", "siteConfig.ftpsState", "Disabled"),
    Demand("Microsoft.Web/sites/basicPublishingCredentialsPolicies", "allow", False),
)
# Who can be reached from the Internet says so, and says that it cannot be when the network is private.
CLOSED: Final = (
    Demand("Microsoft.Storage/storageAccounts", "publicNetworkAccess", "Disabled"),
    Demand("Microsoft.Storage/storageAccounts", "networkAcls.defaultAction", "Deny"),
    Demand("Microsoft.ServiceBus/namespaces", "publicNetworkAccess", "Disabled"),
    Demand("Microsoft.EventGrid/topics", "publicNetworkAccess", "Disabled"),
    Demand("Microsoft.CognitiveServices/accounts", "publicNetworkAccess", "Disabled"),
    Demand("Microsoft.CognitiveServices/accounts", "networkAcls.defaultAction", "Deny"),
)


def check_policies(template: Template, findings: Findings) -> None:
    for resource in template.resources.values():
        if not resource.is_existing:
            _check_demands(resource, findings)
            _check_closed(resource, findings)
            _check_role(resource, template, findings)
    for module in template.modules.values():
        _check_passed_on(module, findings)
    _check_outputs(template, findings)
    in_containers = any(each.type == _CONTAINER_APP for each in template.resources.values())
    for node in walk(template.source.root):
        _check_keys(node, template, findings)
        _check_strings(node, template, findings)
        if node.type == "object_property" and key_of(node) in REFUSED_SETTINGS and not in_containers:
            findings.add(node, f"Flex Consumption refuses the setting {key_of(node)}")


def check_production(values: Template, findings: Findings) -> None:
    """Of the parameter file for production: it closes everything."""
    for name, wanted in ((_PRIVATE, True), ("isDoorPublic", False)):
        given = values.variables.get(name)
        if given is None or given.value is None or literal(given.value) is not wanted:
            findings.add(given.node if given else values.source.root, f"production needs {name} = {wanted}")


def _check_passed_on(module: Module, findings: Findings) -> None:
    """A module is as private as the whole."""
    params = properties(module.body).get("params") if module.body else None
    value = properties(params).get(_PRIVATE) if params else None
    if value is not None and text(value) != _PRIVATE:
        findings.add(value, f"{module.name} must be given {_PRIVATE} as it is")


def _check_demands(resource: Resource, findings: Findings) -> None:
    for demand in DEMANDS:
        if demand.type == resource.type:
            value = _at(resource, demand.path)
            if value is None or literal(value) != demand.value:
                findings.add(resource.node, f"{resource.name}.{demand.path} must be {demand.value!r}")


def _check_closed(resource: Resource, findings: Findings) -> None:
    for demand in CLOSED:
        if demand.type != resource.type:
            continue
        value = _at(resource, demand.path)
        if value is None or demand.value not in (literal(value), _when_private(value)):
            findings.add(
                resource.node,
                f"{resource.name}.{demand.path} must be {demand.value!r}, at least if {_PRIVATE}",
            )


def _when_private(value: Node) -> object:
    if value.type != "ternary_expression":
        return ...
    condition, closed, _ = named(value)
    return literal(closed) if text(condition) == _PRIVATE else ...


def _check_role(resource: Resource, template: Template, findings: Findings) -> None:
    if resource.type != "Microsoft.Authorization/roleAssignments":
        return
    role, principal = resource.properties.get("roleDefinitionId"), resource.properties.get("principalType")
    if principal is None:
        findings.add(
            resource.node, f"{resource.name} needs principalType: a new identity is not known at once"
        )
    if role is None or not _comes_from_the_map(role, template):
        findings.add(resource.node, f"{resource.name}: the role must come from {ROLES}")


def _comes_from_the_map(role: Node, template: Template) -> bool:
    """It names an import from there, runs over one, or is a parameter that whoever calls fills so."""
    names = {text(node) for node in walk(role) if node.type == "identifier"}
    above = role.parent
    while above is not None:
        if above.type == "for_statement":
            names |= {
                text(node) for part in named(above)[:-1] for node in walk(part) if node.type == "identifier"
            }
        above = above.parent
    imported = {name for name, each in template.imports.items() if each.path.endswith(ROLES)}
    return bool(names & imported) or ("roleDefinitionId" in names and "roleDefinitionId" in template.params)


def _check_outputs(template: Template, findings: Findings) -> None:
    secret = {name for name, param in template.params.items() if "secure" in param.decorators}
    for output in template.outputs.values():
        for node in walk(output.node):
            if node.type == "identifier" and text(node) in secret:
                findings.add(output.node, f"output {output.name} shows the secret {text(node)}")
            if node.type == "call_expression" and _KEY_FUNCTION.fullmatch(text(named(node)[0])):
                findings.add(output.node, f"output {output.name} shows a key")


def _check_keys(node: Node, template: Template, findings: Findings) -> None:
    if node.type != "call_expression" or template.path.name == KEY_STAGE:
        return
    # As a function, or behind a resource: `account.listKeys()`.
    called = text(named(node)[0]).rsplit(".", 1)[-1]
    if _KEY_FUNCTION.fullmatch(called):
        findings.add(node, f"{called} fetches a key; only {KEY_STAGE} may")


def _check_strings(node: Node, template: Template, findings: Findings) -> None:
    if node.type != "string":
        return
    written = text(node)
    for host in CLOUD_HOSTS:
        if host in written:
            findings.add(node, f"{host} differs between clouds: use environment()")
    if re.search(r"AccountKey=|SharedAccessKey=|sig=", written):
        findings.add(node, "a connection string with a key")
    value = string_of(node)
    if value and _GUID.fullmatch(value) and template.path.name != ROLES:
        findings.add(node, f"the id {value} belongs into {ROLES}")


def _at(resource: Resource, path: str) -> Node | None:
    level = resource.properties
    *above, last = path.split(".")
    for name in above:
        if name not in level or level[name].type != "object":
            return None
        level = properties(level[name])
    return level.get(last)
