/// The probable kind of a USB device with a serial port.
public struct Board: Sendable, Hashable {
    /// The name of the board, of the adapter's chip if many boards use that chip, or of the vendor's kind of boards.
    public let name: String
    /// Boards that often carry the chip, or the chips that share the VID:PID; nil if ``name`` is a board, or if no
    /// board is typical of the chip.
    public let oftenOn: String?

    /// Looks up a VID:PID, then the vendor alone.
    ///
    /// - Parameter identifier: The VID:PID of the device.
    /// - Returns: nil if neither is known.
    public init?(usb identifier: USBIdentifier) {
        if let board = Self.byIdentifier[identifier] {
            self = board
        } else if let name = BoardTable.vendors[identifier.vendor] {
            self.init(name: name, oftenOn: nil)
        } else {
            return nil
        }
    }

    private init(name: String, oftenOn: String?) {
        self.name = name
        self.oftenOn = oftenOn
    }

    private static let byIdentifier: [USBIdentifier: Board] = {
        var boards: [USBIdentifier: Board] = [:]
        for (vendor, product, name, oftenOn) in BoardTable.products {
            boards[USBIdentifier(vendor: vendor, product: product)] = Board(name: name, oftenOn: oftenOn)
        }
        return boards
    }()
}

extension Board: CustomStringConvertible {
    /// A description such as `CH340 (Arduino Nano clone)`.
    public var description: String { oftenOn.map { "\(name) (\($0))" } ?? name }
}
