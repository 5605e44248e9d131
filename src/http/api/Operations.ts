import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"

const Check = Schema.Struct({
  status: Schema.Literals(["ok", "failing", "pending"]),
  detail: Schema.optionalKey(Schema.String)
})

export const ReadinessReport = Schema.Struct({
  status: Schema.Literals(["ready", "degraded", "not_ready"]),
  checks: Schema.Struct({
    store: Check,
    migrations: Check,
    poller: Check,
    audit: Check,
    shutdown: Check
  })
})

/** What balancers and monitoring read; none of it takes a key. */
export class OperationsGroup extends HttpApiGroup.make("operations").add(
  HttpApiEndpoint.get("health", "/healthz", {
    success: Schema.Struct({ status: Schema.Literal("ok") })
  }),
  /** 503 with the same body while requests should go elsewhere. */
  HttpApiEndpoint.get("readiness", "/readyz", { success: ReadinessReport }),
  /** In the text format of Prometheus. */
  HttpApiEndpoint.get("metrics", "/metrics", {
    success: Schema.String.pipe(HttpApiSchema.asText())
  })
) {}
