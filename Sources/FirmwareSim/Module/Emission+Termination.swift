extension Emission {
    /// What ends a connection leaves by: no characteristic has this number.
    private static let linkLayer: UInt128 = 0
    /// LL_TERMINATE_IND, because the user of the device wanted it (Bluetooth Core, Vol 6, Part B, 2.4.2.3).
    private static let terminateIndication: [UInt8] = [0x02, 0x13]

    /// A device ends its connections at `time`.
    package static func termination(at time: Duration) -> Emission {
        Emission(bytes: terminateIndication, time: time, output: linkLayer)
    }

    /// Whether the device ends its connections.
    package var isTermination: Bool { output == Self.linkLayer }
}
