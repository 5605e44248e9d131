import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { operation } from "./document.ts"
import { AdminAuthorization, LookUp } from "./middlewares.ts"
import { oneOf, text } from "./shared.ts"

const Check = Schema.Struct({
  status: oneOf(["ok", "failing", "pending"], "How it stands"),
  detail: Schema.optionalKey(text("What is wrong with it"))
}).annotate({ identifier: "Check", description: "One thing that readiness depends on" })

export const ReadinessReport = Schema.Struct({
  status: oneOf(["ready", "degraded", "not_ready"], "degraded serves, but an operator should look"),
  checks: Schema.Struct({
    store: Check,
    migrations: Check,
    poller: Check,
    audit: Check,
    deadlines: Check,
    shutdown: Check
  }).annotate({ description: "Each thing it depends on" })
}).annotate({ identifier: "Readiness", description: "Whether requests should come here" })

/** The endpoints of load balancers, which need no key, and of monitoring, which needs an operator's token. */
export class OperationsGroup extends HttpApiGroup.make("operations").add(
  HttpApiEndpoint.get("health", "/healthz", {
    success: Schema.Struct({
      status: Schema.Literal("ok").annotate({ description: "The process answers" })
    })
  }).annotateMerge(operation("Liveness", "Answers as long as the process does.")),
  HttpApiEndpoint.get("readiness", "/readyz", { success: ReadinessReport }).annotateMerge(
    operation("Readiness", "503 with the same body while requests should go elsewhere.")
  ),
  HttpApiEndpoint.get("metrics", "/metrics", {
    success: Schema.String.pipe(HttpApiSchema.asText())
  })
    .middleware(AdminAuthorization)
    .annotate(LookUp, true)
    .annotateMerge(operation("Metrics", "Totals in the text format of Prometheus."))
) {}
