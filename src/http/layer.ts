/** What customers order by, and what surrounds every route. */
import { Layer } from "effect"
import { layerOperationsHandlers } from "./handlers/operationsHandlers.ts"
import { layerImagesHandlers } from "./handlers/orders/imageHandlers.ts"
import { layerOpenaiVideosHandlers } from "./handlers/orders/openaiVideoHandlers.ts"
import { layerQuotesHandlers } from "./handlers/orders/quoteHandlers.ts"
import { layerReservedHandlers } from "./handlers/orders/reservedHandlers.ts"
import { layerTextsHandlers } from "./handlers/orders/textHandlers.ts"
import { layerVideosHandlers } from "./handlers/orders/videoHandlers.ts"
import { layerAdminRoles } from "./server/access/adminAuthorization.ts"
import { layerAuthorization } from "./server/access/authorization.ts"
import { layerAdminAuditing } from "./server/adminAuditing.ts"
import { layerConsolePages } from "./server/consolePages.ts"
import { layerEdge } from "./server/envelope.ts"
import { layerRequestRules } from "./server/requestRules.ts"
import { layerNoIds } from "./server/wrongPaths.ts"

/** The routes of orders, of quotes, and of the gateway itself. */
export const layerOrderHandlers = Layer.mergeAll(
  layerVideosHandlers,
  layerOpenaiVideosHandlers,
  layerImagesHandlers,
  layerTextsHandlers,
  layerReservedHandlers,
  layerQuotesHandlers,
  layerOperationsHandlers
)

/** Who may call, within which bounds, and what is audited. */
export const layerMiddlewares = Layer.mergeAll(
  layerAuthorization,
  layerRequestRules,
  layerAdminRoles,
  layerAdminAuditing
)

/** Routes beside the contract, and what every answer has. */
export const layerSurroundings = Layer.mergeAll(layerConsolePages, layerNoIds, layerEdge)
