# Postern as a container, for AKS and Container Apps. The Functions host comes with the base image.
#   docker build -t REGISTRY/postern:TAG .

ARG BASE=mcr.microsoft.com/azure-functions/python:4-python3.13

FROM ${BASE} AS packages
WORKDIR /build
COPY requirements.txt constraints.txt ./
# Where the worker looks for an app's packages. Bytecode is compiled here: a user who may not write cannot keep it.
RUN python -m pip install --no-cache-dir --disable-pip-version-check \
      --target /build/.python_packages/lib/site-packages -r requirements.txt -c constraints.txt \
 && python -m compileall -q /build/.python_packages/lib/site-packages

FROM ${BASE}
# Above 1024, because whoever is not root may listen there everywhere.
ENV AzureWebJobsScriptRoot=/home/site/wwwroot \
    AzureFunctionsJobHost__Logging__Console__IsEnabled=true \
    FUNCTIONS_WORKER_RUNTIME=python \
    ASPNETCORE_URLS=http://+:8080
# The host keeps its own notes below /home.
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /home --shell /usr/sbin/nologin postern \
 && mkdir -p /home/site/wwwroot /home/LogFiles /home/data \
 && chown -R 10001:10001 /home
COPY --from=packages --chown=root:root /build/.python_packages /home/site/wwwroot/.python_packages
COPY --chown=root:root host.json function_app.py /home/site/wwwroot/
COPY --chown=root:root shared /home/site/wwwroot/shared
RUN python -m compileall -q /home/site/wwwroot/shared
USER 10001:10001
EXPOSE 8080
