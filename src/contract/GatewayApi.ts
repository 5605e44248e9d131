/** The complete HTTP contract, without server code, for clients. */
import { ModelsGroup } from "../features/catalog/ModelsApi.ts"
import { FilesGroup } from "../features/files/FilesApi.ts"
import { McpGroup } from "../features/mcp/McpApi.ts"
import { MessagesGroup } from "../features/messages/MessagesApi.ts"
import { ResponsesGroup } from "../features/responses/ResponsesApi.ts"
import { signInApi } from "../features/signIn/SignInApi.ts"
import { StatementsGroup } from "../features/statements/StatementsApi.ts"
import { AccountGroup } from "../features/usage/AccountApi.ts"
import { OrdersGroup } from "../features/usage/OrdersApi.ts"
import { WebhooksGroup } from "../features/webhooks/WebhooksApi.ts"
import { agentApi, customerApi } from "../http/api/contractOf.ts"
import { OperationsGroup } from "../http/api/OperationsApi.ts"
import { AudioGroup } from "../http/api/orders/AudioApi.ts"
import { ImagesGroup } from "../http/api/orders/ImagesApi.ts"
import { OpenaiVideosGroup } from "../http/api/orders/OpenaiVideosApi.ts"
import { QuotesGroup } from "../http/api/orders/QuotesApi.ts"
import { TextsGroup } from "../http/api/orders/TextsApi.ts"
import { VideosGroup } from "../http/api/orders/VideosApi.ts"
import { AdministrationApi } from "./AdministrationApi.ts"

export class GatewayApi extends customerApi(
  ModelsGroup,
  VideosGroup,
  OpenaiVideosGroup,
  ImagesGroup,
  FilesGroup,
  TextsGroup,
  ResponsesGroup,
  MessagesGroup,
  AudioGroup,
  QuotesGroup,
  AccountGroup,
  OrdersGroup,
  StatementsGroup,
  WebhooksGroup
)
  .addHttpApi(agentApi(McpGroup))
  .addHttpApi(AdministrationApi)
  .addHttpApi(signInApi)
  .add(OperationsGroup) {}
