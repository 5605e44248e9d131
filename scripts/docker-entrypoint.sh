#!/bin/sh
# Gives a gateway without a master key one of its own, kept in its volume. Several gateways on one
# database must share the key: set GATEWAY_MASTER_KEY for those.
set -eu
if [ -z "${GATEWAY_MASTER_KEY:-}" ] && [ -n "${DATABASE_URL:-}" ]; then
  file="${DATA_DIR:-/data}/master-key"
  [ -s "$file" ] || (umask 077 && node -e 'console.log(require("node:crypto").randomBytes(32).toString("base64"))' > "$file")
  GATEWAY_MASTER_KEY="$(cat "$file")"
  export GATEWAY_MASTER_KEY
fi
exec "$@"
