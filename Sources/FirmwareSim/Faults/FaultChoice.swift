/// The faults that a running device can get: the ones that its simulator permits at the start, on the same carrier.
struct FaultChoice: Sendable {
    /// The option that names faults, as the device's simulator declares it.
    var option = SimulatorOption.faults()
    var carrier = SimulatorOption.Carrier.line
    /// Whether the device is on a pseudo-terminal, from which the host's baud rate is known.
    var isOnTerminal = true
    /// Whether programs can find the device again after its cable was pulled.
    var hasWayBack = true

    /// Parses a list of faults, separated by commas.
    ///
    /// - Returns: The orders, and the name of the device's own fault in the list; nil if the list contains none.
    /// - Throws: ``SimulatorOptionError`` if an order is invalid, or if a fault makes no sense for the device or its
    ///   carrier, needs a pseudo-terminal, or pulls the cable of a device that programs could not find again.
    func faults(_ text: String) throws(SimulatorOptionError) -> (orders: [FaultOrder], own: String?) {
        let settings = try SimulatorSettings([option], [option.name: text], over: carrier)
        if !isOnTerminal { try settings.checkWithoutTerminal() }
        if !hasWayBack, settings.pullsCable { throw SimulatorOptionError(option.name, .noWayBack) }
        return (settings.faults(option.name), settings.ownFault(option.name))
    }
}
