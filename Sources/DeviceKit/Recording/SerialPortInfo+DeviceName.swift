public import SerialPort

extension SerialPortInfo {
    /// The endpoint that identifies the device: `usb:0403:6001/A50285BI`. Nil for a port that is not USB, or that only
    /// its path identifies.
    public var deviceName: String? {
        guard let usb = identity.usb else { return nil }
        return switch identity.distinction {
        case .serialNumber(let number): "usb:\(usb)/\(number)"
        case .physicalPath(let path): "usb:\(usb)@\(path)"
        case .node: nil
        }
    }
}
