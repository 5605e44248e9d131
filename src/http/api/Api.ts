/** The whole HTTP interface, free of server code. */
import { HttpApi } from "effect/http-api"
import { AccountGroup } from "./Account.ts"
import { AdminGroup } from "./Admin.ts"
import { HistoryGroup } from "./History.ts"
import { ImagesGroup } from "./Images.ts"
import { ModelsGroup } from "./Models.ts"
import { OperationsGroup } from "./Operations.ts"
import { QuotesGroup } from "./Quotes.ts"
import { VideosGroup } from "./Videos.ts"

export class GatewayApi extends HttpApi.make("media-gateway").add(
  ModelsGroup,
  VideosGroup,
  ImagesGroup,
  AccountGroup,
  AdminGroup,
  OperationsGroup,
  HistoryGroup,
  QuotesGroup
) {}
