/** The complete HTTP contract, without server code, for clients. */
import { OpenApi } from "effect/http-api"
import { ModelsGroup } from "../features/catalog/ModelsApi.ts"
import { FilesGroup } from "../features/files/FilesApi.ts"
import { StatementsGroup } from "../features/statements/StatementsApi.ts"
import { AccountGroup } from "../features/usage/AccountApi.ts"
import { OrdersGroup } from "../features/usage/OrdersApi.ts"
import { WebhooksGroup } from "../features/webhooks/WebhooksApi.ts"
import { customerApi } from "../http/api/contractOf.ts"
import { OperationsGroup } from "../http/api/OperationsApi.ts"
import { ImagesGroup } from "../http/api/orders/ImagesApi.ts"
import { OpenaiVideosGroup } from "../http/api/orders/OpenaiVideosApi.ts"
import { QuotesGroup } from "../http/api/orders/QuotesApi.ts"
import { ReservedGroup } from "../http/api/orders/ReservedApi.ts"
import { TextsGroup } from "../http/api/orders/TextsApi.ts"
import { VideosGroup } from "../http/api/orders/VideosApi.ts"
import { AdministrationApi } from "./AdministrationApi.ts"
import { openObjects } from "./document.ts"

const DESCRIPTION = `One API and one key in front of many vendors of generated media.

A video is a task: order it, then read it until it ends. An image is answered at once. The expected
price is held before a vendor is called, what was used is charged, and a failure gives all of it back.

Every answer carries \`x-request-id\`. Every error is \`{"error":{"message","type","param","code"}}\`,
and some codes add fields. \`x-should-retry: false\` marks errors after which a repeat could be paid twice.`

export class GatewayApi extends customerApi(
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
