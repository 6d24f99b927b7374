public import Transports

extension Endpoint {
    /// The endpoint as a device of `family` is opened at it: at its baud rate where none is named, and over BLE by its
    /// profiles; one of no known family by any profile.
    public func adapted(to family: Family) -> Endpoint {
        if isSerialPort, options["baud"] == nil { return adding("baud", "\(family.baudRate)") }
        if scheme == "ble", options["family"] == nil, family != .raw { return adding("family", family.name) }
        return self
    }
}
