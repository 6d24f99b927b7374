public import SerialPort

extension SerialPortInfo {
    /// The endpoint that identifies the device, such as `usb:0403:6001/A50285BI`; nil for a port without USB.
    public var deviceName: String? {
        guard let usb = identity.usb else { return nil }
        return switch identity.distinction {
        case .serialNumber(let number): "usb:\(usb)/\(number)"
        case .physicalPath(let path): "usb:\(usb)@\(path)"
        case .node: nil
        }
    }
}
