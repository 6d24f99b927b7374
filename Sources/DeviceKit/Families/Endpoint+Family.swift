public import Transports

extension Endpoint {
    /// The endpoint as a device of `family` is opened at it: at its baud rate where none is named, and over BLE by its
    /// profiles; one of no known family by any profile.
    public func adapted(to family: Family) -> Endpoint {
        if let serial, serial.baudRate == nil {
            var endpoint = self
            endpoint.serial?.baudRate = family.baudRate
            return endpoint
        }
        if scheme == "ble", options["family"] == nil, family != .raw { return adding("family", family.name) }
        return self
    }
}
