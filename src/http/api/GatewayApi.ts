/** The whole HTTP interface, free of server code. */
import { HttpApi, OpenApi } from "effect/http-api"
import { AccountGroup } from "./AccountApi.ts"
import { AdministrationApi } from "./admin/AdministrationApi.ts"
import { openObjects } from "./document.ts"
import { ModelsGroup } from "./ModelsApi.ts"
import { Authorization, RequestRules } from "./middlewares.ts"
import { OrdersGroup } from "./money/OrdersApi.ts"
import { StatementsGroup } from "./money/StatementsApi.ts"
import { OperationsGroup } from "./OperationsApi.ts"
import { FilesGroup } from "./orders/FilesApi.ts"
import { ImagesGroup } from "./orders/ImagesApi.ts"
import { OpenaiVideosGroup } from "./orders/OpenaiVideosApi.ts"
import { QuotesGroup } from "./orders/QuotesApi.ts"
import { ReservedGroup } from "./orders/ReservedApi.ts"
import { TextsGroup } from "./orders/TextsApi.ts"
import { VideosGroup } from "./orders/VideosApi.ts"
import { WebhooksGroup } from "./WebhooksApi.ts"

const DESCRIPTION = `One API and one key in front of many vendors of generated media.

A video is a task: order it, then read it until it ends. An image is answered at once. The expected
price is held before a vendor is called, what was used is charged, and a failure gives all of it back.

Every answer carries \`x-request-id\`. Every error is \`{"error":{"message","type","param","code"}}\`,
and some codes add fields. \`x-should-retry: false\` marks errors after which a repeat could be paid twice.`

export class GatewayApi extends HttpApi.make("media-gateway")
  .add(
    ModelsGroup,
    VideosGroup,
    OpenaiVideosGroup,
    ImagesGroup,
    FilesGroup,
    TextsGroup,
    ReservedGroup,
    QuotesGroup,
    AccountGroup,
    OrdersGroup,
    StatementsGroup,
    WebhooksGroup
  )
  // An API key opens all of these. The groups below say themselves whom they let in.
  .middleware(RequestRules)
  .middleware(Authorization)
  .prefix("/v1")
  .addHttpApi(AdministrationApi)
  .add(OperationsGroup)
  .annotateMerge(
    OpenApi.annotations({
      title: "Media gateway",
      version: "1",
      description: DESCRIPTION,
      license: { name: "MIT" },
      servers: [{ url: "/" }],
      transform: openObjects
    })
  ) {}
