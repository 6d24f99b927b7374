import LineProtocol

extension CommandContext {
    /// Warns of a sensor that can't be relied on while the pump runs.
    func warn(of status: PumpStatus) {
        guard let fault = status.skinFaultWhileOn else { return }
        output.note("pumpctl: warning: \(PumpText.skinFault(fault, status))")
    }
}
