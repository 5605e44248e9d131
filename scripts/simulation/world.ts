/** The scheduler of a simulated world: one list of runnable tasks of all fibers, and its log. */
import { Effect, type Exit, Random, Scheduler } from "effect"
import { Generator } from "./generator.ts"
import { promisesAtRest, time } from "./realm.ts"

/** A process of the world. One that is dead runs nothing any more, without any finalizer. */
export class Actor {
  isDead = false
  /** Whether the machine does not run it at the moment. */
  isPaused = false
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

interface Task {
  readonly actor: Actor
  readonly run: () => void
}

/** Operations after which a fiber of Effect's own scheduler lets others run. */
const MOST_OPERATIONS = 2048

/** Steps without any time of a world that is in a loop. */
const MOST_STEPS = 200_000

export class World {
  /** Everything that happened, one line each. The same seed writes the same lines. */
  readonly log: Array<string> = []
  steps = 0
  /** Called before each step. */
  onStep: () => void = () => undefined
  /** Whether files are read, which takes real time: then the time stands still. */
  isReading = false
  private readonly seed: number
  private readonly dice: Generator
  private readonly random: (typeof Random.Random)["Service"]
  private readonly preemption: number
  private readonly runnable: Array<Task> = []
  private paused: Array<Task> = []
  private readonly beginsAtMillis = time.nowMillis

  /** A fiber is preempted between two operations with the probability `preemption`. */
  constructor(seed: number, preemption: number) {
    this.seed = seed
    this.dice = new Generator(seed)
    const numbers = new Generator(seed + 3)
    this.random = {
      nextIntUnsafe: () => numbers.safeInteger(),
      nextDoubleUnsafe: () => numbers.fraction()
    }
    this.preemption = preemption
  }

  /** Begins with the seed's choices. Those before may have depended on when a file was read. */
  begin(): void {
    this.dice.reset(this.seed)
  }

  note(actor: Actor, event: string): void {
    this.log.push(`${this.elapsedMillis()} ${actor.name} ${event}`)
  }

  /** Milliseconds since the world began. */
  elapsedMillis(): number {
    return time.nowMillis - this.beginsAtMillis
  }

  schedule(actor: Actor, run: () => void): void {
    this.runnable.push({ actor, run })
  }

  /** Runs a task of an actor after a time. */
  scheduleAfter(actor: Actor, millis: number, run: () => void): void {
    time.set(millis, () => this.schedule(actor, run))
  }

  /** Lets an actor stand still for a time. */
  pause(actor: Actor, millis: number): void {
    actor.isPaused = true
    time.set(millis, () => {
      actor.isPaused = false
      this.runnable.push(...this.paused.filter((task) => task.actor === actor))
      this.paused = this.paused.filter((task) => task.actor !== actor)
    })
  }

  /**
   * Runs the fibers of an actor by this world's choices. Random numbers are its own, because Effect
   * also draws numbers for the hashes of objects, once for each object of a module.
   */
  readonly runAs =
    (actor: Actor) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      effect.pipe(
        Effect.provideService(Scheduler.Scheduler, this.schedulerOf(actor)),
        Effect.provideService(Random.Random, this.random)
      )

  private schedulerOf(actor: Actor): Scheduler.Scheduler {
    return {
      executionMode: "async",
      // A fiber of a dead actor that is resumed from outside yields at once, and is never continued.
      shouldYield: ({ currentOpCount }) =>
        actor.isDead || currentOpCount >= MOST_OPERATIONS || this.dice.isHit(this.preemption),
      makeDispatcher: () => ({
        scheduleTask: (run) => this.schedule(actor, run),
        flush: () => this.flush(actor)
      })
    }
  }

  private flush(actor: Actor): void {
    for (let index = 0; index < this.runnable.length; ) {
      const task = this.runnable[index]
      if (task?.actor === actor) {
        this.runnable.splice(index, 1)
        task.run()
      } else index += 1
    }
  }

  /** Takes any of the runnable tasks. */
  private take(): Task | undefined {
    const index = this.dice.below(this.runnable.length)
    const task = this.runnable[index]
    const last = this.runnable.pop()
    if (last !== undefined && index < this.runnable.length) this.runnable[index] = last
    return task
  }

  /** Moves the time to the next timers; false where there are none. */
  private async moveTime(): Promise<boolean> {
    while (this.isReading && this.runnable.length === 0) await promisesAtRest()
    if (this.runnable.length > 0) return true
    const timers = time.advance()
    for (const ring of timers) ring()
    return timers.length > 0
  }

  private runNext(): void {
    const task = this.take()
    if (task === undefined || task.actor.isDead) return
    if (task.actor.isPaused) {
      this.paused.push(task)
      return
    }
    this.steps += 1
    this.onStep()
    // The step may have been the end of the actor.
    if (!task.actor.isDead) task.run()
  }

  /**
   * Runs a program, and everything else, until the program's end; null where it has not ended
   * after `mostMillis` of simulated time, is deadlocked, or does not let the time advance.
   */
  async exitOf<A, E>(
    program: Effect.Effect<A, E>,
    mostMillis: number
  ): Promise<Exit.Exit<A, E> | null> {
    let end: Exit.Exit<A, E> | null = null
    Effect.runFork(program).addObserver((exit) => {
      end = exit
    })
    for (let moved = this.steps; end === null && this.steps < moved + MOST_STEPS; ) {
      await promisesAtRest()
      if (this.runnable.length > 0) this.runNext()
      else if (this.elapsedMillis() < mostMillis && (await this.moveTime())) moved = this.steps
      else break
    }
    return end
  }
}
