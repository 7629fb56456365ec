"""The OpenAPI document, made from the routes and the models that the code itself uses."""
