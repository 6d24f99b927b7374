internal import FoundationEssentials

extension RescueFirmware {
    public static var commandFraming: CommandFraming { .objects }

    /// Accepts a message as the phone app writes it.
    public static func objection(to command: [UInt8], isPacket: Bool) -> String? {
        guard let message = try? JSONDecoder().decode(RawMessage.self, from: Data(command)) else {
            return "is not a message"
        }
        if UUID(uuidString: message.id) == nil || message.id != message.id.uppercased() {
            return "has an id that is not an upper-case UUID"
        }
        if !["pending_sync", "synced"].contains(message.status) { return "has an unknown status" }
        if !Self.categories.contains(message.category) { return "has an unknown category" }
        return nil
    }

    private static let categories = ["Road Closure", "Flooding", "Shelter", "Resource", "SOS", "Other"]

    /// A message with its fields in the form that they have on the wire.
    private struct RawMessage: Decodable {
        var id: String
        var content: String
        var latitude: Double
        var longitude: Double
        var timestamp: Double
        var status: String
        var category: String
    }
}
