/// Garbled bytes on a line whose ends have different baud rates.
extension FaultyDevice {
    public mutating func setHostBaudRate(_ rate: Int) { carrier.hostRate = rate }

    public var heedsHostBaudRate: Bool { has(.garble) }

    /// The two baud rates, if they differ and the device has the fault `baud`.
    private var mismatch: (device: Int, host: Int)? {
        guard has(.garble), case .baud(let rate) = carrier.rate, let host = carrier.hostRate, host != rate else {
            return nil
        }
        return (rate, host)
    }

    /// Returns the bytes that the device receives if the host sends `bytes`.
    func garbledByHost(_ bytes: [UInt8]) -> [UInt8] {
        guard let mismatch else { return bytes }
        return BaudMismatch.received(bytes, sentAt: mismatch.host, receivedAt: mismatch.device)
    }

    /// Returns the emission as the host receives it.
    func garbledForHost(_ emission: Emission) -> Emission {
        guard let mismatch else { return emission }
        var emission = emission
        emission.bytes = BaudMismatch.received(emission.bytes, sentAt: mismatch.device, receivedAt: mismatch.host)
        return emission
    }
}
