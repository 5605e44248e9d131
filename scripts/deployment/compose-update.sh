#!/bin/sh
# Updates the gateways of docker-compose.yml one after the other, so that one serves at any time:
# a plain "docker compose up" stops both before it starts either. A failure ends the update and
# leaves the gateways that are not updated yet as they are.
set -eu
cd "$(dirname "$0")/../.."

docker compose build
# The gateways that still run serve beside the newer schema.
docker compose run --rm migrate
for gateway in gateway-1 gateway-2; do
  docker compose up --detach --no-deps --wait --wait-timeout 120 "$gateway"
done
# HAProxy and the other services, where their configuration has changed.
docker compose up --detach
