using 'main.bicep'

// Nothing can be reached from outside the network; callers come through it, and whoever publishes does too.
param prefix = 'postern'
param isPrivate = true
param isDoorPublic = false
param addressPrefix = '10.90.0.0/24'
param operatorId = readEnvironmentVariable('AZURE_PRINCIPAL_ID', '')
param operatorType = readEnvironmentVariable('AZURE_PRINCIPAL_TYPE', 'ServicePrincipal')
param tags = {
  'azd-env-name': readEnvironmentVariable('AZURE_ENV_NAME', 'prod')
}
param entraAudience = readEnvironmentVariable('POSTERN_ENTRA_AUDIENCE', '')
param gatewayEndpoint = readEnvironmentVariable('LLM_GATEWAY_ENDPOINT', '')
param alwaysReadyForHttp = 1
param monthlyBudget = 5000
param budgetStart = '2026-12-01'
// Addresses with commas between them. There is no default: alerts that nobody gets are none.
param alertEmails = split(readEnvironmentVariable('POSTERN_ALERT_EMAILS'), ',')
param batchDeployments = [
  {
    name: 'gpt-5-mini-batch'
    model: 'gpt-5-mini'
    version: '2025-08-07'
    sku: 'DataZoneBatch'
    capacity: 200
  }
]
param standardDeployments = [
  {
    name: 'gpt-5-mini'
    model: 'gpt-5-mini'
    version: '2025-08-07'
    sku: 'DataZoneStandard'
    capacity: 1000
  }
]
