import { Effect, type Exit, Scope } from "effect"

/**
 * Runs the finalizer when the scope closes. `Effect.addFinalizer` copies the whole context at that
 * time, so that the finalizer finds its services; this finalizer needs none.
 */
export const onScopeEnd = (
  finalizer: (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void>
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizerExit(scope, finalizer))
