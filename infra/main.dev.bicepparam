using 'main.bicep'

// For a try: reachable from the Internet, still without keys. Identity is all that opens it.
param prefix = 'posterndev'
param isPrivate = false
param operatorId = readEnvironmentVariable('AZURE_PRINCIPAL_ID', '')
param operatorType = readEnvironmentVariable('AZURE_PRINCIPAL_TYPE', 'User')
param tags = {
  'azd-env-name': readEnvironmentVariable('AZURE_ENV_NAME', 'dev')
}
param resultDays = 30
param recoveryDays = 7
param logDays = 30
param batchDeployments = [
  {
    name: 'gpt-5-mini-batch'
    model: 'gpt-5-mini'
    version: '2025-08-07'
    sku: 'GlobalBatch'
    capacity: 50
  }
]
param standardDeployments = [
  {
    name: 'gpt-5-mini'
    model: 'gpt-5-mini'
    version: '2025-08-07'
    sku: 'GlobalStandard'
    capacity: 100
  }
]
