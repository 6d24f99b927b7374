/// How a console behaves.
struct ConsoleOptions {
    /// Whether each line of the device is preceded by the time at which it came.
    var showsTime: Bool
    /// How long the device says nothing before the next line of a pipe is sent.
    var quiet: Duration
    /// Whether lines are sent that would set the pump to another speed than they say.
    var sendsDangerous: Bool
}
