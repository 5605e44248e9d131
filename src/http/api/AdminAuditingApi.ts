/** Every write of a group that has this middleware is audited, whether it is done or refused. */
import { HttpApiMiddleware } from "effect/http-api"

export class AdminAuditing extends HttpApiMiddleware.Service<AdminAuditing>()(
  "gateway/http/AdminAuditing"
) {}
