/// Pauses in the checks, in turns of the firmware's main loop: a turn takes some 109 ms, and 50 ms more if it handled a
/// command (pump-43, pump-44).
extension Duration {
    /// More than two turns after a command. The first turns of a pump that was just started take the knob's value, which
    /// must not change a speed that a check sets.
    static let twoTurns = Duration.milliseconds(350)
    /// More than four turns after a command. The firmware has then read the changed knob or temperature, with turns to
    /// spare for a busy host.
    static let fourTurns = Duration.milliseconds(500)
    /// More than seven turns after a command: enough to show that the firmware does nothing about a temperature.
    static let sevenTurns = Duration.milliseconds(900)
}
