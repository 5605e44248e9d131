/** The feature of sign-in with the account of one's company, and of the sessions of people. */
import { Layer } from "effect"
import { layerSessionCleaner } from "./SessionCleaner.ts"
import { layer as layerSignIn } from "./SignIn.ts"
import { layerSessionHandlers } from "./sessionHandlers.ts"
import { layerSignInHandlers } from "./signInHandlers.ts"

/** The look-up of sessions and the sign-in, which need the other stores; both off by default. */
export const layerStores = layerSignIn

/** The HTTP handlers of the feature. */
export const layerHandlers = Layer.mergeAll(layerSignInHandlers, layerSessionHandlers)

/** The background jobs of the feature. */
export const layerJobs = layerSessionCleaner
