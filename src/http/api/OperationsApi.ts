import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { operation } from "./document.ts"
import { AdminAuthorization, LookUp } from "./middlewares.ts"
import { oneOf, text } from "./shared.ts"

const Check = Schema.Struct({
  status: oneOf(["ok", "failing", "pending"], "The result of the check"),
  detail: Schema.optionalKey(text("Why the check does not pass"))
}).annotate({ identifier: "Check", description: "One check of readiness" })

export const ReadinessReport = Schema.Struct({
  status: oneOf(
    ["ready", "degraded", "not_ready"],
    "`degraded` serves, and needs an operator's attention"
  ),
  checks: Schema.Struct({
    store: Check,
    migrations: Check,
    poller: Check,
    audit: Check,
    deadlines: Check,
    shutdown: Check
  }).annotate({ description: "The checks by name" })
}).annotate({ identifier: "Readiness", description: "Whether this gateway should get requests" })

/**
 * The endpoints for load balancers, which need no key, and for monitoring, which needs an
 * operator's token.
 */
export class OperationsGroup extends HttpApiGroup.make("operations").add(
  HttpApiEndpoint.get("health", "/healthz", {
    success: Schema.Struct({
      status: Schema.Literal("ok").annotate({ description: "The process answers" })
    })
  }).annotateMerge(operation("Liveness", "Answers as long as the process does.")),
  HttpApiEndpoint.get("readiness", "/readyz", { success: ReadinessReport }).annotateMerge(
    operation("Readiness", "503 with the same body while this gateway should get no requests.")
  ),
  HttpApiEndpoint.get("metrics", "/metrics", {
    success: Schema.String.pipe(HttpApiSchema.asText())
  })
    .middleware(AdminAuthorization)
    .annotate(LookUp, true)
    .annotateMerge(operation("Metrics", "Totals in the text format of Prometheus."))
) {}
