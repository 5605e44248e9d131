/** The context of order handlers, which every request copies. */
import { Context, Effect, Layer } from "effect"
import { Authorization, RequestRules } from "../../api/middlewares.ts"

type Middlewares = Authorization | RequestRules

const pickMiddlewares = Context.pick(Authorization, RequestRules)

/**
 * Builds a group of handlers in a context of its middlewares alone. `HttpApiBuilder` copies the
 * context in which a group is built into the context of each of its requests; with all services of
 * the gateway, these copies were a tenth of the memory that an image order allocates. So the
 * handlers of such a group get the services as values, before the group is built.
 */
export const narrowContext = <A, E>(
  group: Layer.Layer<A, E, Middlewares>
): Layer.Layer<A, E, Middlewares> =>
  Layer.fromBuild((memoMap, scope) =>
    Effect.updateContext(Layer.buildWithMemoMap(group, memoMap, scope), pickMiddlewares)
  )
