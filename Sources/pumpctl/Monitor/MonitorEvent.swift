import DeviceKit

/// What a monitor has to attend to.
enum MonitorEvent: Sendable {
    /// The pump is told of.
    case updated(PumpUpdate)
    /// The pump can't be followed any more.
    case failed(any Error)
    /// The time that was asked for is over.
    case timeIsUp
    /// Something to show on the side.
    case note(String)
}
