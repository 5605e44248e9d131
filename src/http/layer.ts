/** The layers of ordering routes, of middlewares, and of routes outside the contract. */
import { Layer } from "effect"
import { layerOperationsHandlers } from "./handlers/operationsHandlers.ts"
import { layerAudioHandlers } from "./handlers/orders/audioHandlers.ts"
import { layerImagesHandlers } from "./handlers/orders/imageHandlers.ts"
import { layerOpenaiVideosHandlers } from "./handlers/orders/openaiVideoHandlers.ts"
import { layerQuotesHandlers } from "./handlers/orders/quoteHandlers.ts"
import { layerTextsHandlers } from "./handlers/orders/textHandlers.ts"
import { layerVideosHandlers } from "./handlers/orders/videoHandlers.ts"
import { layerAdminRoles } from "./server/access/adminAuthorization.ts"
import { layerAuthorization } from "./server/access/authorization.ts"
import { layerAdminAuditing } from "./server/adminAuditing.ts"
import { layerConsolePages } from "./server/consolePages.ts"
import { layerEdge } from "./server/envelope.ts"
import { layerRequestRules } from "./server/requestRules.ts"
import { layerNoIds } from "./server/wrongPaths.ts"

/** The handlers of orders, of quotes, and of the gateway's own health. */
export const layerOrderHandlers = Layer.mergeAll(
  layerVideosHandlers,
  layerOpenaiVideosHandlers,
  layerImagesHandlers,
  layerTextsHandlers,
  layerAudioHandlers,
  layerQuotesHandlers,
  layerOperationsHandlers
)

/** The middlewares of the contract: authentication, roles, the rules of bodies, and the audit. */
export const layerMiddlewares = Layer.mergeAll(
  layerAuthorization,
  layerRequestRules,
  layerAdminRoles,
  layerAdminAuditing
)

/** Routes outside the contract, and the middleware around every route. */
export const layerSurroundings = Layer.mergeAll(layerConsolePages, layerNoIds, layerEdge)
