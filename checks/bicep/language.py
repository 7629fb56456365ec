"""The words that Bicep brings."""

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Functions, and what they return where that is always the same.
FUNCTIONS: Final[dict[str, str]] = {
    **dict.fromkeys(
        _words("""
            any concat deployer deployment environment extensionResourceId externalInput fail filter first flatten
            getSecret groupBy intersection items json last list listKeys loadJsonContent loadYamlContent
            managementGroup map mapValues max min objectKeys parseCidr parseUri pickZones range reduce reference
            resourceGroup shallowMerge skip sort split subscription take tenant toLogicalZone toObject
            toPhysicalZone tryGet union
        """),
        "",
    ),
    **dict.fromkeys(
        _words("""
            base64 base64ToString buildUri cidrHost cidrSubnet dataUri dateTimeAdd dateTimeFromEpoch format guid
            join loadFileAsBase64 loadTextContent managementGroupResourceId nameof newGuid padLeft
            readEnvironmentVariable replace resourceId string subscriptionResourceId substring tenantResourceId
            toLower toUpper trim uniqueString uri uriComponent uriComponentToString utcNow
        """),
        "string",
    ),
    **dict.fromkeys(_words("dateTimeToEpoch indexOf int lastIndexOf length sum"), "int"),
    **dict.fromkeys(_words("bool contains empty endsWith startsWith"), "bool"),
}
NAMESPACES: Final = frozenset({"az", "sys"})
DECORATORS: Final = _words("""
    allowed batchSize description discriminator export maxLength maxValue metadata minLength minValue
    onlyIfNotExists retryOn sealed secure waitUntil
""")
TYPES: Final = frozenset(
    {"any", "array", "bool", "int", "object", "string", "resourceInput", "resourceOutput"}
)
# Hosts that differ between clouds: environment() knows them.
CLOUD_HOSTS: Final = (
    "core.windows.net",
    "login.microsoftonline.com",
    "management.azure.com",
    "vault.azure.net",
)
# What Azure Functions on Flex Consumption refuses or ignores ("App settings reference: Flex Consumption plan
# deprecations", read 2026-11-30).
REFUSED_SETTINGS: Final = frozenset(
    {
        "ENABLE_ORYX_BUILD",
        "FUNCTIONS_EXTENSION_VERSION",
        "FUNCTIONS_WORKER_RUNTIME",
        "FUNCTIONS_WORKER_RUNTIME_VERSION",
        "SCM_DO_BUILD_DURING_DEPLOYMENT",
        "TZ",
        "WEBSITE_CONTENTAZUREFILECONNECTIONSTRING",
        "WEBSITE_CONTENTOVERVNET",
        "WEBSITE_CONTENTSHARE",
        "WEBSITE_NODE_DEFAULT_VERSION",
        "WEBSITE_RUN_FROM_PACKAGE",
        "WEBSITE_SKIP_CONTENTSHARE_VALIDATION",
        "WEBSITE_TIME_ZONE",
        "WEBSITE_VNET_ROUTE_ALL",
    }
)
