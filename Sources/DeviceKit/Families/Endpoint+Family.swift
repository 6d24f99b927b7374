public import Transports

extension Endpoint {
    /// The endpoint as a device of `family` is opened at it: at its baud rate where none is named, and over BLE by its
    /// profiles.
    public func adapted(to family: Family) -> Endpoint {
        if isSerialPort, options["baud"] == nil { return adding("baud", "\(family.baudRate)") }
        if scheme == "ble", options["family"] == nil { return adding("family", family.name) }
        return self
    }
}
